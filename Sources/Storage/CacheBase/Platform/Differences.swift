// What the systems call or do differently, under one name.

/// The file of the program that runs.
public enum ExecutableFile {
  /// A path that leads to it.
  public static var path: String {
    #if canImport(Darwin)
      var size = UInt32(PATH_MAX)
      var bytes = [CChar](repeating: 0, count: Int(size))
      guard _NSGetExecutablePath(&bytes, &size) == 0 else { return CommandLine.arguments.first ?? "" }
      return String(decoding: bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    #else
      return "/proc/self/exe"
    #endif
  }
}

/// Calls about sockets.
public enum Sockets {
  /// Sends bytes as send(2) does. If the peer has closed the connection, the call fails with EPIPE; no signal ends the
  /// process.
  public static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Darwin)
      var on: Int32 = 1
      setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
      return CacheBase.send(descriptor, bytes.baseAddress, bytes.count, 0)
    #else
      return CacheBase.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    #endif
  }
}

extension Sockets {
  /// Whether the peer has ended the connection, even if there is still something to receive.
  public static func hasEnded(_ descriptor: Int32) -> Bool {
    #if canImport(Darwin)
      let end = Int16(POLLHUP)
    #else
      // POLLRDHUP, which the system's header declares only for GNU sources.
      let end: Int16 = 0x2000
    #endif
    var request = pollfd(fd: descriptor, events: end, revents: 0)
    return poll(&request, 1, 0) > 0
  }
}

/// The time from one boot of the machine to the next.
package enum KernelRun {
  /// A unique name for the current boot; `nil` if the system has none, such as Linux without /proc. Cost: a few
  /// microseconds.
  package static var identifier: String? {
    #if os(Linux)
      return SmallFile.text("/proc/sys/kernel/random/boot_id").map { String($0.prefix { !$0.isWhitespace }) }
    #else
      var (text, size) = ([UInt8](repeating: 0, count: 64), 64)
      guard sysctlbyname("kern.bootsessionuuid", &text, &size, nil, 0) == 0 else { return nil }
      return String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
    #endif
  }
}

extension stat {
  /// When the contents of the file were last changed.
  public var contentsChangedAt: timespec {
    #if canImport(Darwin)
      return st_mtimespec
    #else
      return st_mtim
    #endif
  }

  /// When the contents, the permissions or the names of the file were last changed.
  public var statusChangedAt: timespec {
    #if canImport(Darwin)
      return st_ctimespec
    #else
      return st_ctim
    #endif
  }
}

extension sigaction {
  /// What handles the signal; `nil` for the default action.
  public var handler: (@convention(c) (Int32) -> Void)? {
    get {
      #if canImport(Darwin)
        return __sigaction_u.__sa_handler
      #elseif canImport(Musl)
        return __sa_handler.sa_handler
      #else
        return __sigaction_handler.sa_handler
      #endif
    }
    set {
      #if canImport(Darwin)
        __sigaction_u.__sa_handler = newValue
      #elseif canImport(Musl)
        __sa_handler.sa_handler = newValue
      #else
        __sigaction_handler.sa_handler = newValue
      #endif
    }
  }
}
