"""A published file for tests, and its SHA-256."""

import hashlib

CONTENT = b"a published file, for tests"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
