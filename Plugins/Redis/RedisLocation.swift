internal import CacheBase
internal import EngineAPI

/// The address at which a server listens: a host and a port, or a socket of this machine.
struct RedisAddress: Sendable, Hashable, CustomStringConvertible {
  /// The host, or the path of the socket.
  let host: String
  /// The port; 0 for a socket.
  let port: Int32

  var isSocket: Bool { port == 0 }

  var description: String {
    isSocket ? host : host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}

extension RedisAddress {
  /// Parses `host`, `host:port` or `[IPv6]:port`; `nil` if `text` is none of these. Without a port it has `port`.
  init?(_ text: Substring, port: Int32 = 6_379) {
    if text.first == "[" {
      guard let end = text.firstIndex(of: "]") else { return nil }
      let host = text[text.index(after: text.startIndex)..<end]
      self.init(host: host, port: text[text.index(after: end)...], usual: port)
    } else {
      let colon = text.firstIndex(of: ":") ?? text.endIndex
      self.init(host: text[..<colon], port: text[colon...], usual: port)
    }
  }

  private init?(host: Substring, port: Substring, usual: Int32) {
    guard !host.isEmpty, host.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "@") }) else {
      return nil
    }
    self.host = String(host)
    if port.isEmpty {
      self.port = usual
    } else {
      guard port.first == ":", let number = UInt16(port.dropFirst()), number > 0 else { return nil }
      self.port = Int32(number)
    }
  }
}

/// The content of a URL: one or more addresses, and a database number.
struct RedisLocation: Sendable, Hashable, CustomStringConvertible {
  let addresses: [RedisAddress]
  let database: Int
  /// Whether connections are encrypted.
  let isEncrypted: Bool
  /// The name by which the Sentinels at `addresses` know the master; `nil` if the addresses are those of servers.
  let service: String?

  /// The port on which Sentinels listen if a URL names none.
  private static let sentinelPort: Int32 = 26_379

  /// Parses `redis://host:port/database`, or several of these separated by commas, of which only the first needs
  /// `redis://`; `redis-sentinel://host:port,host:port/database#service`; either with `rediss` for encrypted connections;
  /// or `unix:///path?db=database`.
  ///
  /// - Throws: `CacheError` with the code `invalidOption`. The message does not repeat the URL, which can contain a
  ///   misplaced password.
  init(url: String) throws(CacheError) {
    let scheme = url.prefix { $0 != ":" }.lowercased()
    let (start, url) = (scheme + "://", scheme + url.drop { $0 != ":" })
    guard url.hasPrefix(start) else { throw Self.malformed }
    isEncrypted = scheme.hasPrefix("rediss")
    switch scheme {
    case "unix":
      service = nil
      (addresses, database) = try Self.socket(url.dropFirst(start.count))
    case "redis", "rediss":
      service = nil
      (addresses, database) = try Self.servers(url[...], start, port: 6_379)
    case "redis-sentinel", "rediss-sentinel":
      guard let hash = url.lastIndex(of: "#") else { throw Self.withoutService }
      let name = url[url.index(after: hash)...]
      guard !name.isEmpty, name.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw Self.withoutService }
      service = String(name)
      (addresses, database) = try Self.servers(url[..<hash], start, port: Self.sentinelPort)
    default: throw Self.malformed
    }
  }

  /// Parses addresses separated by commas, each of which can begin with `start` and end with a database.
  private static func servers(
    _ text: Substring, _ start: String, port: Int32
  ) throws(CacheError) -> (addresses: [RedisAddress], database: Int) {
    var (addresses, database) = ([RedisAddress](), 0)
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      var text = part.hasPrefix(start) ? part.dropFirst(start.count) : part
      if text.contains("@") {
        throw .badURL("it must hold no user and no password", hint: "use the options user and password")
      }
      if let slash = text.firstIndex(of: "/") {
        let number = text[text.index(after: slash)...]
        guard let parsed = number.isEmpty ? 0 : UInt16(number) else { throw malformed }
        (text, database) = (text[..<slash], Int(parsed))
      }
      guard let address = RedisAddress(text, port: port) else { throw malformed }
      addresses.append(address)
    }
    return (addresses, database)
  }

  /// Parses `/path?db=database`.
  private static func socket(_ text: Substring) throws(CacheError) -> (addresses: [RedisAddress], database: Int) {
    let (path, query) = (text.prefix { $0 != "?" }, text.drop { $0 != "?" })
    let maximum = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1
    guard path.hasPrefix("/"), path.count > 1, path.utf8.count <= maximum, query.isEmpty || query.hasPrefix("?db="),
      let database = query.isEmpty ? 0 : UInt16(query.dropFirst(4))
    else {
      throw .badURL(
        "it is not of the form unix:///path?db=database, with a path of at most \(maximum) bytes",
        hint: "write it like unix:///run/redis/redis-server.sock")
    }
    return ([RedisAddress(host: String(path), port: 0)], Int(database))
  }

  var description: String {
    if let socket = addresses.first, socket.isSocket {
      return database == 0 ? url(of: socket) : "\(url(of: socket))?db=\(database)"
    }
    let scheme = (isEncrypted ? "rediss" : "redis") + (service == nil ? "" : "-sentinel")
    let text = "\(scheme)://" + addresses.map(\.description).joined(separator: ",")
    return (database == 0 ? text : "\(text)/\(database)") + (service.map { "#\($0)" } ?? "")
  }

  /// The URL of one server.
  func url(of address: RedisAddress) -> String {
    (address.isSocket ? "unix" : isEncrypted ? "rediss" : "redis") + "://\(address)"
  }

  private static let malformed = CacheError.badURL(
    "it is not of the form redis://host:port/database", hint: "write it like redis://127.0.0.1:6379")
  private static let withoutService = CacheError.badURL(
    "it does not name the master that the Sentinels watch",
    hint: "write it like redis-sentinel://10.0.0.1:26379,10.0.0.2:26379#mymaster")
}
