print("cachectl 0.1.0")
