import CachedFetching
import Glibc
import HTTPTransfer
import LMDBStorage
import ResponseStorage
import StorageSPI

let (plugin, clock, arguments) = (LMDBPlugin(), SystemWallClock(), CommandLine.arguments)
guard arguments.count == 3 else {
  print("usage: cached-requests STORE URL")
  exit(64)
}
let engine = try await plugin.open(
  EngineConfiguration(for: plugin.declaration, values: ["path": .text(arguments[1])], clock: clock))
let store = EntryStore(engine: engine, clock: clock)
let freshness = FreshnessPolicy(timeToLive: .zero, staleIfError: .seconds(86400), staleWhileRevalidate: .zero)
let cache = HTTPCache(
  storage: EngineHTTPResponseStorage(store: store),
  transfer: HTTPTransferService(timeout: .seconds(30), limit: 1 << 24, environment: { _ in nil }),
  services: FetchServices(rules: HTTPCacheRules(freshness: freshness), now: { clock.now.sinceEpoch }))
let request = HTTPRequest(url: arguments[2])
for try await snapshot in cache.followedResponses(to: request, options: FetchOptions(), maxRedirects: 5) {
  let response = snapshot.value.response
  print(response.head.status, response.head.fields["cache-status"] ?? "", response.body.count, "bytes")
}
try await store.close()
