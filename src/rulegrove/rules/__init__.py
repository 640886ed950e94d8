"""Rules as records: conditions, extraction from trees, removal of repeats."""
