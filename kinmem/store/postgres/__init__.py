"""The PostgreSQL store: one database for all Kins, each row under row-level security; pgvector."""
