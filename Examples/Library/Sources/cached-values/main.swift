// Counts how often it has run, in a cache that outlives it.
import Foundation
import LMDBStorage
import ResponseCache

struct Run: Codable {
  let number: Int
  let arguments: [String]
}

guard CommandLine.arguments.count == 2 else {
  print("usage: cached-values STORE")
  exit(64)
}
let cache = try await Cache(.lmdb(path: CommandLine.arguments[1]))
let last = try await cache.value(Run.self, for: "last run")
let run = Run(number: (last?.number ?? 0) + 1, arguments: CommandLine.arguments)

// Any Codable is a value, and any text a key. This one is kept for an hour.
try await cache.set(run, for: "last run", expiresAfter: .seconds(3600))
// Without a time, a value is kept as long as the limits allow.
try await cache.set("run \(run.number)", for: "runs/\(run.number)")

print("run \(run.number), after", try await cache.keys(prefix: "runs/").count - 1, "others")
try await cache.close()
