"""Which votes tell of a run, though a chat belongs to none.

Those of chats with the run's endpoints only: by name, settings and, where known, loaded model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from evalbot.domain.runs import Run, RunEndpoint
from evalbot.store.database import Connection
from evalbot.store.votes import Asked, CastVote, all_votes, asked_in_voted_chats


def votes_of_run(connection: Connection, run: Run) -> list[CastVote]:
    """The votes of chats with this run's endpoints only, in the order they were cast."""
    endpoints = {endpoint.name: endpoint for endpoint in run.endpoints}
    asked = asked_in_voted_chats(connection)
    return [
        cast
        for cast in all_votes(connection)
        if endpoints.keys() >= set(cast.endpoints) and _are_the_runs(asked[cast.chat], endpoints)
    ]


def _are_the_runs(asked: Iterable[Asked], endpoints: Mapping[str, RunEndpoint]) -> bool:
    return all(
        one.endpoint in endpoints and _is_asked_so(one, endpoints[one.endpoint]) for one in asked
    )


def _is_asked_so(asked: Asked, endpoint: RunEndpoint) -> bool:
    models = {asked.model_fingerprint, endpoint.model_fingerprint} - {None}
    return asked.settings == endpoint.settings and len(models) < 2
