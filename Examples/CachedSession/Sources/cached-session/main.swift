import Foundation
import FoundationNetworking
import ResponseCache
import ResponseCacheURLSession
import SQLiteStorage

let arguments = CommandLine.arguments
guard arguments.count == 3, let url = URL(string: arguments[2]) else {
  FileHandle.standardError.write(Data("usage: cached-session STORE URL\n".utf8))
  exit(64)
}
let cache = try await Cache(.sqlite(path: arguments[1]))
let session = URLSession(configuration: .default.cached(by: cache))
let (data, response) = try await session.data(from: url)
let field = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Cache-Status")
FileHandle.standardError.write(Data("\(field ?? "past the cache")\n".utf8))
FileHandle.standardOutput.write(data)
try await cache.close()
