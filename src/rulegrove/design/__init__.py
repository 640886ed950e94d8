"""From rules and rows to sufficient statistics: bit columns, linear terms, sums that merge."""
