"""The paper's statements, checked one by one."""

from rulegrove.study.claims import candidates, sets
from rulegrove.study.results import Results
from rulegrove.study.tables import Table

CLAIMS = (*sets.CLAIMS, *candidates.CLAIMS)


def tabulate_claims(results: Results) -> Table:
    """Return the statements whose part has results as a table: statement, our figure, whether it holds and why."""
    rows = []
    for claim in CLAIMS:
        here = results.where(part=claim.part)
        if len(here):
            rows.append([claim.statement, claim.section, *claim.check(here)])
    return Table("The paper's statements", ("statement", "section", "our figure", "verdict", "why, or beside it"), rows)
