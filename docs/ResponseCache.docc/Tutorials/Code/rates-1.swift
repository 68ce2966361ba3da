import ResponseCache
import SQLiteStorage

let cache = try await Cache(.sqlite(path: "rates.sqlite"))
let rates = try cache.resource("rates", freshFor: .seconds(600)) { (currency: String) in
  print("Requesting \(currency) from the bank.")
  return 0.94
}
for _ in 1...2 { print(try await rates("CHF")) }
try await cache.close()
