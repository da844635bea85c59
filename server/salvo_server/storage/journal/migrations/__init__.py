"""How the journal's schema came about, for Alembic."""
