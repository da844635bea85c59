"""Bots as programs of their own, in any language, that speak lines on their standard streams (SALVO-EXEC)."""
