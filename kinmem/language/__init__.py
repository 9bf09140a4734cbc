"""What texts say: dates, names, numbers, secrets, orders, and how two statements relate."""
