"""The cases of the conformance tables: one module a scanner, inputs only. The answers come from llm-guard (../generate.py)."""
