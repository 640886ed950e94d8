"""The paper's statements, checked one by one."""

from rulegrove.study.claims import candidates, sets
from rulegrove.study.claims.base import Claim, Verdict
from rulegrove.study.results import Results
from rulegrove.study.tables import Table

CLAIMS: tuple[Claim, ...] = (*sets.CLAIMS, *candidates.CLAIMS)


def check_claims(results: Results) -> list[tuple[Claim, Verdict]]:
    """Return a verdict on every statement whose part has results."""
    checked = []
    for claim in CLAIMS:
        here = results.where(part=claim.part)
        if len(here):
            checked.append((claim, claim.check(here)))
    return checked


def tabulate_claims(results: Results) -> Table:
    """Return the statements as a table: statement, our figure, whether it holds and why."""
    rows = [
        [claim.statement, claim.section, verdict.ours, verdict.holds, verdict.why]
        for claim, verdict in check_claims(results)
    ]
    return Table("The paper's statements", ("statement", "section", "our figure", "verdict", "why, or beside it"), rows)
