import ResponseCache
import SQLiteStorage

struct Rate: Codable {
  let currency: String
  let perEuro: Double
}

/// Simulates a request to a server.
func askBank(_ currency: String) async throws -> Rate {
  print("Requesting \(currency) from the bank.")
  try await Task.sleep(for: .seconds(1))
  return Rate(currency: currency, perEuro: 0.94)
}

let cache = try await Cache(.sqlite(path: "rates.sqlite"))
let rates = try cache.resource("rates", version: 2, freshFor: .seconds(600)) { (currency: String) in
  try await askBank(currency)
}
for _ in 1...2 {
  print(try await rates("CHF").perEuro)
}
try await cache.close()
