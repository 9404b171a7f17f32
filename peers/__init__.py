"""The same scenarios for ns-2 and ns-3, and the races against them."""
