"""Tests of the validation package itself."""
