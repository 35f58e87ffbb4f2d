"""Twelve answers that people and a judge graded; the first six are of the judge's own family."""

HUMAN = [1, 1, 0.5, 0, 1, 0.5, 1, 0.5, 0, 1, 0.5, 0]
JUDGE = [1, 1, 1, 0.5, 1, 1, 1, 0.5, 0, 0.5, 1, 0]
LENGTHS = [120, 180, 240, 200, 90, 260, 100, 80, 60, 110, 150, 70]
SAME = [True] * 6 + [False] * 6
VERDICTS = [{0: "wrong", 0.5: "acceptable", 1: "correct"}[credit] for credit in HUMAN]
DIFFERENCES = [j - h for h, j in zip(HUMAN, JUDGE, strict=True)]

FIFTY = [[8, 3, 1], [2, 9, 5], [0, 2, 20]]
"""Another judge: rows human, columns judge, both 0, 0.5, 1."""
