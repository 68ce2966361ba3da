// Fetches a URL through an HTTP cache.
import Foundation
import CurlTransport
import LMDBStorage
import ResponseCache

guard CommandLine.arguments.count == 3 else {
  print("usage: cached-requests STORE URL")
  exit(64)
}
let cache = try await Cache(.lmdb(path: CommandLine.arguments[1]))
let request = HTTP.Request(url: CommandLine.arguments[2])
let response = try await cache.response(to: request, over: HTTPTransferService())
print(response.head.status, response.head.fields["cache-status"] ?? "", response.body.count, "bytes")
try await cache.close()
