"""Charts of speed and quality: plain values in, altair charts out, for files and for the page.

Names of models come from outside and are data: they stand in data values, in domains of
scales, and inside longer titles, and never in a field's name or in an expression.
"""

from evalbot.reporting.charts.first_token import first_token_chart
from evalbot.reporting.charts.quality import QualityPoint, quality_speed_charts
from evalbot.reporting.charts.throughput import throughput_chart
from evalbot.reporting.charts.verdicts import Dot, dots_chart, rank_chart

__all__ = [
    "Dot",
    "QualityPoint",
    "dots_chart",
    "first_token_chart",
    "quality_speed_charts",
    "rank_chart",
    "throughput_chart",
]
