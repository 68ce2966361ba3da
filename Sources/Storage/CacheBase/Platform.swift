// The platform's C library, which is imported here alone, and what the platforms call or do differently.
#if canImport(Glibc)
  @_exported public import Glibc
#elseif canImport(Musl)
  @_exported public import Musl
#else
  @_exported public import Darwin
#endif

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

/// Waits for a stream that can block indefinitely, such as a pipe or a terminal.
package enum Readiness {
  /// How long a cancellation can go unnoticed, in milliseconds.
  private static let interval: Int32 = 50

  /// Waits as `wait` does, but keeps no thread: the task polls after pauses that get longer.
  ///
  /// - Throws: `cancelled` if the task is cancelled meanwhile.
  package static func pause(until descriptor: Int32, _ event: Int32) async throws(CacheError) {
    var request = pollfd(fd: descriptor, events: Int16(event), revents: 0)
    var pause: Int32 = 1
    while true {
      let count = poll(&request, 1, 0)
      if count > 0 || (count < 0 && errno != EINTR) { return }
      do { try await Task.sleep(for: .milliseconds(pause)) } catch { throw .cancelled }
      pause = min(pause * 2, interval)
    }
  }

  /// Waits until the file `descriptor` is ready for `event`, `POLLIN` or `POLLOUT`, or has failed; using it shows
  /// which.
  ///
  /// - Throws: `cancelled` if the task is cancelled meanwhile: a call that blocks in the system would not notice.
  package static func wait(for descriptor: Int32, _ event: Int32) throws(CacheError) {
    var request = pollfd(fd: descriptor, events: Int16(event), revents: 0)
    while true {
      let count = poll(&request, 1, interval)
      if count > 0 || (count < 0 && errno != EINTR) { return }
      if Task.isCancelled { throw .cancelled }
    }
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
  /// The function that handles the signal; `nil` for the default action.
  public var handler: (@convention(c) (Int32) -> Void)? {
    #if canImport(Darwin)
      return __sigaction_u.__sa_handler
    #elseif canImport(Musl)
      return __sa_handler.sa_handler
    #else
      return __sigaction_handler.sa_handler
    #endif
  }
}

/// Reads small files, such as those in /proc, with a single call.
package enum SmallFile {
  private static let maximumLength = 4_096

  /// The text of the file; `nil` if it cannot be read, or is empty.
  package static func text(_ path: String) -> String? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    return bytes { CacheBase.read(file, $0.baseAddress, $0.count) }
  }

  /// The target of a symbolic link.
  package static func target(_ path: String) -> String? {
    bytes { buffer in
      guard let start = buffer.baseAddress else { return 0 }
      return start.withMemoryRebound(to: CChar.self, capacity: buffer.count) { readlink(path, $0, buffer.count) }
    }
  }

  private static func bytes(_ fill: (UnsafeMutableBufferPointer<UInt8>) -> Int) -> String? {
    let bytes = [UInt8](unsafeUninitializedCapacity: maximumLength) { buffer, count in count = max(0, fill(buffer)) }
    return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }
}

/// The user's home folder, which `~` stands for.
public enum HomeFolder {
  /// Its absolute path: `HOME`, otherwise the system's record of the user, otherwise the root. A relative path would
  /// depend on the working folder. To look the user up takes twenty system calls.
  public static var path: String {
    if let home = getenv("HOME").map({ String(cString: $0) }), home.hasPrefix("/") { return home }
    if let home = registered, home.hasPrefix("/") { return home }
    return "/"
  }

  /// The home folder in the system's user database; `nil` if the user is not in it.
  private static var registered: String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { buffer in
      var (entry, found) = (passwd(), UnsafeMutablePointer<passwd>?.none)
      guard let start = buffer.baseAddress, getpwuid_r(geteuid(), &entry, start, buffer.count, &found) == 0,
        found != nil
      else { return nil }
      return entry.pw_dir.map { String(cString: $0) }
    }
  }

  /// `path` with `home` in the place of a leading `~`; any other path unchanged. The home folder of another user, as in
  /// `~ann`, is not known.
  public static func expanded(_ path: String, home: @autoclosure () -> String = HomeFolder.path) -> String {
    guard path == "~" || path.hasPrefix("~/") else { return path }
    let home = home()
    return (home == "/" && path != "~" ? "" : home) + String(Substring(path.utf8.dropFirst()))
  }
}

/// Folders, with everything in them.
public enum Folders {
  /// The names in the folder at `path`; `nil`, with the reason in `errno`, if they cannot be listed.
  package static func names(in path: String) -> [String]? {
    guard let folder = opendir(path) else { return nil }
    defer { closedir(folder) }
    var names: [String] = []
    errno = 0
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name != ".", name != ".." { names.append(name) }
      errno = 0
    }
    return errno == 0 ? names : nil
  }

  /// Removes the file or folder at `path`; if it is a link, only the link. It leaves files that it cannot remove,
  /// together with their parent folders.
  public static func remove(_ path: String) {
    if unlink(path) == 0 { return }
    // `unlink` fails for a folder: EISDIR on Linux, EPERM in POSIX. A link that must not be removed is not followed
    // either.
    guard errno == EISDIR || errno == EPERM, SmallFile.target(path) == nil else { return }
    for name in names(in: path) ?? [] { remove("\(path)/\(name)") }
    rmdir(path)
  }
}
