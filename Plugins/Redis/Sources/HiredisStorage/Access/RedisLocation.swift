internal import Platform
internal import StorageSPI

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

  /// The address as a URL.
  var url: String { isSocket ? "unix://\(host)" : "redis://\(self)" }
}

extension RedisAddress {
  /// Parses `host`, `host:port` or `[IPv6]:port`; `nil` if `text` is none of these.
  init?(_ text: Substring) {
    if text.first == "[" {
      guard let end = text.firstIndex(of: "]") else { return nil }
      self.init(host: text[text.index(after: text.startIndex)..<end], port: text[text.index(after: end)...])
    } else {
      let colon = text.firstIndex(of: ":") ?? text.endIndex
      self.init(host: text[..<colon], port: text[colon...])
    }
  }

  private init?(host: Substring, port: Substring) {
    guard !host.isEmpty, host.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "@") }) else {
      return nil
    }
    self.host = String(host)
    if port.isEmpty {
      self.port = 6_379
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

  /// Parses `url`: `redis://host:port/database`, or several of these separated by commas, of which only the first needs
  /// `redis://`; or `unix:///path?db=database`.
  ///
  /// - Throws: `CacheError` with the code `invalidOption`. The message does not repeat the URL, which may contain a
  ///   misplaced password.
  init(url: String) throws(CacheError) {
    if url.hasPrefix("unix://") {
      self = try Self.socket(url.dropFirst(7))
      return
    }
    guard url.hasPrefix("redis://") else { throw Self.notRedis(url) }
    var (addresses, database) = ([RedisAddress](), 0)
    for part in url.split(separator: ",", omittingEmptySubsequences: false) {
      var text = part.hasPrefix("redis://") ? part.dropFirst(8) : part
      if text.contains("@") {
        throw .badURL("it must hold no user and no password", hint: "use the options user and password")
      }
      if let slash = text.firstIndex(of: "/") {
        let number = text[text.index(after: slash)...]
        guard let parsed = number.isEmpty ? 0 : UInt16(number) else { throw Self.malformed }
        (text, database) = (text[..<slash], Int(parsed))
      }
      guard let address = RedisAddress(text) else { throw Self.malformed }
      addresses.append(address)
    }
    (self.addresses, self.database) = (addresses, database)
  }

  private init(addresses: [RedisAddress], database: Int) {
    (self.addresses, self.database) = (addresses, database)
  }

  /// Parses `/path?db=database`.
  private static func socket(_ text: Substring) throws(CacheError) -> RedisLocation {
    let (path, query) = (text.prefix { $0 != "?" }, text.drop { $0 != "?" })
    let maximum = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1
    guard path.hasPrefix("/"), path.count > 1, path.utf8.count <= maximum, query.isEmpty || query.hasPrefix("?db="),
      let database = query.isEmpty ? 0 : UInt16(query.dropFirst(4))
    else {
      throw .badURL(
        "it is not of the form unix:///path?db=database, with a path of at most \(maximum) bytes",
        hint: "write it like unix:///run/redis/redis-server.sock")
    }
    return RedisLocation(addresses: [RedisAddress(host: String(path), port: 0)], database: Int(database))
  }

  var description: String {
    if let socket = addresses.first, socket.isSocket {
      return database == 0 ? socket.url : "\(socket.url)?db=\(database)"
    }
    let text = "redis://" + addresses.map(\.description).joined(separator: ",")
    return database == 0 ? text : "\(text)/\(database)"
  }

  private static let malformed = CacheError.badURL(
    "it is not of the form redis://host:port/database", hint: "write it like redis://127.0.0.1:6379")

  private static func notRedis(_ url: String) -> CacheError {
    guard url.hasPrefix("rediss://") else { return malformed }
    return .badURL("encrypted connections are not supported", hint: "connect through a tunnel, such as stunnel")
  }
}
