"""Parquet files whose pages have checksums, and bytes in them that have changed."""

import pyarrow.parquet as pq


def write_checked(table, path, **options):
    """Write a table with a checksum a page, in an encoding that reads whatever a flipped bit says."""
    plain = {"write_page_checksum": True, "use_dictionary": False, "compression": "none"}
    pq.write_table(table, path, **{**plain, **options})


def flip_bit(path, column=0, group=0):
    """Change the last byte of a column's values by one bit: another number, nothing that a reader stumbles over."""
    place = pq.read_metadata(path).row_group(group).column(column)
    content = bytearray(path.read_bytes())
    content[place.data_page_offset + place.total_compressed_size - 3] ^= 1
    path.write_bytes(content)
