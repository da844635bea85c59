"""What serves pages: to one person on this machine (``own_page``), and what every server of pages permits.

Needs starlette and uvicorn, which nothing else here does.
"""
