"""The SQLite store: one file per Kin and one shared file; apsw, sqlite-vec, FTS5."""
