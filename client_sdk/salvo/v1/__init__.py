"""Generated from proto/salvo/v1 by proto/generate.py; do not edit."""
