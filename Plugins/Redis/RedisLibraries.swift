internal import CRedis
internal import CacheBase
internal import EngineAPI

/// The C libraries, which are loaded when they are first used.
enum RedisLibraries {
  /// hiredis, of which only the parser of replies is used.
  static let hiredis = Result { () throws(CacheError) -> credis_hiredis in
    let version = String(cString: credis_hiredis_version())
    var functions = credis_hiredis()
    try load("libhiredis", version: version, package: "libhiredis\(version)") {
      credis_find_hiredis($0, &functions).map { String(cString: $0) }
    }
    return functions
  }

  /// OpenSSL, which only encrypted connections need.
  static let openSSL = Result { () throws(CacheError) -> credis_openssl in
    let version = "\(OPENSSL_SHLIB_VERSION)"
    var functions = credis_openssl()
    try load("libssl", version: version, package: "libssl\(version)") {
      credis_find_openssl($0, &functions).map { String(cString: $0) }
    }
    // At the end of the process a thread might still be using OpenSSL.
    _ = functions.OPENSSL_init_ssl(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
    return functions
  }

  /// Loads a library and calls `find` with it, which returns the name of a missing function.
  private static func load(
    _ name: String, version: String, package: String, _ find: (UnsafeMutableRawPointer) -> String?
  ) throws(CacheError) {
    do throws(DynamicLibrary.Failure) {
      let library = try DynamicLibrary(name, versions: [version], package: package, acceptsOthers: false)
      if let missing = find(library.handle) { throw DynamicLibrary.Failure(name, "has no function \(missing)") }
    } catch {
      throw CacheError(.invalidOption, "the engine 'redis' cannot be used: \(error)", hint: error.hint)
    }
  }
}
