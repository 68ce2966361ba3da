// Measures the caches that Swift programs on Linux use now beside this one, on the same values: a dictionary under
// NSCache, Foundation's URLCache, and `Cache` over three engines. Prints a table for docs/comparison.md.
//
//     swift run -c release --package-path Benchmarks Comparison
import Foundation
import FoundationNetworking
import LMDBStorage
import MemoryStorage
import ResponseCache
import SQLiteStorage

struct User: Codable, Equatable {
  let id: Int
  let name: String
  let address: String
}

/// A cache under comparison: stores a user, finds one, and is opened again after `close`.
struct Subject {
  let name: String
  let set: (User) async throws -> Void
  let find: (Int) async throws -> User?
  let close: () async throws -> Void
}

let folder = FileManager.default.temporaryDirectory.appending(path: "comparison-\(UUID())").path
try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(atPath: folder) }

func user(_ id: Int) -> User { User(id: id, name: "Ann \(id)", address: String(repeating: "street ", count: 12)) }

func nsCache() -> Subject {
  let cache = NSCache<NSNumber, NSArray>()
  return Subject(
    name: "`NSCache`", set: { cache.setObject([$0] as NSArray, forKey: NSNumber(value: $0.id)) },
    find: { cache.object(forKey: NSNumber(value: $0))?.firstObject as? User }, close: {})
}

/// Stores the encoded user as the response to a request, as a program without another cache would.
func urlCache() -> Subject {
  let cache = URLCache(memoryCapacity: 64 << 20, diskCapacity: 256 << 20, diskPath: folder + "/url-cache")
  func request(_ id: Int) throws -> URLRequest {
    guard let url = URL(string: "http://server.example/users/\(id)") else { throw CacheError(.failed, "no URL") }
    return URLRequest(url: url)
  }
  return Subject(
    name: "`URLCache`",
    set: { user in
      let request = try request(user.id)
      guard let url = request.url,
        let head = HTTPURLResponse(
          url: url, statusCode: 200, httpVersion: nil, headerFields: ["Cache-Control": "max-age=3600"])
      else { throw CacheError(.failed, "no response") }
      cache.storeCachedResponse(
        CachedURLResponse(response: head, data: try JSONEncoder().encode(user)), for: request)
    },
    find: { id in
      try cache.cachedResponse(for: request(id)).map { try JSONDecoder().decode(User.self, from: $0.data) }
    }, close: {})
}

func responseCache(_ name: String, _ location: StorageLocation) async throws -> Subject {
  let cache = try await Cache(location)
  return Subject(
    name: name, set: { try await cache.set($0, for: "user/\($0.id)") },
    find: { try await cache.value(User.self, for: "user/\($0)") }, close: { try await cache.close() })
}

/// The mean time of one call of `body` for each of `count` identifiers, in microseconds.
func microseconds(_ count: Int, _ body: (Int) async throws -> Void) async throws -> String {
  let clock = ContinuousClock()
  let time = try await clock.measure { for id in 0..<count { try await body(id) } }
  return String(format: "%.2f", time / .microseconds(1) / Double(count))
}

/// Measures a cache with `count` users in it.
func row(_ count: Int = 10_000, _ makeSubject: () async throws -> Subject) async throws {
  let subject = try await makeSubject()
  let set = try await microseconds(count) { try await subject.set(user($0)) }
  var found = 0
  let first = try await microseconds(count) { if try await subject.find($0) == user($0) { found += 1 } }
  let again = try await microseconds(count) { _ in _ = try await subject.find(7) }
  try await subject.close()
  let reopened = try await makeSubject()
  var kept = 0
  for id in 0..<count where try await reopened.find(id) == user(id) { kept += 1 }
  try await reopened.close()
  let (foundShare, keptShare) = (found * 100 / count, kept * 100 / count)
  print("| \(subject.name) | \(count) | \(set) | \(first) | \(again) | \(foundShare) % | \(keptShare) % |")
  fflush(nil)
}

print("| cache | values | a set | each value once | one value again | found | found after a restart |")
print("|---|---|---|---|---|---|---|")
try await row { nsCache() }
// With more values it takes minutes.
try await row(200) { urlCache() }
try await row { try await responseCache("`Cache(.memory)`", .memory) }
try await row { try await responseCache("`Cache(.lmdb)`", .lmdb(path: folder + "/lmdb")) }
try await row { try await responseCache("`Cache(.sqlite)`", .sqlite(path: folder + "/sqlite")) }
