internal import CacheBase
internal import CCurl
internal import HTTPCaching

/// The functions of libcurl, which `TransferThread` has loaded.
var libcurl: ccurl_functions { ccurl_table().pointee }

/// The options of a libcurl handle. Functions throw if libcurl does not take an option.
struct CurlOptions {
  /// The type of the functions that take header lines or content, or that give content.
  typealias Callback = @convention(c) (UnsafeMutablePointer<CChar>, Int, Int, UnsafeMutableRawPointer) -> Int

  let easy: UnsafeMutableRawPointer

  /// Makes `easy` send `request` as `settings` say, and deliver the response as it arrives.
  func configure(_ request: OutgoingRequest, _ settings: NetworkSettings) throws(CacheError) {
    try setRequest(request)
    try set(CURLOPT_NOSIGNAL, 1)
    // Do not follow redirects, do not undo codings, accept nothing older than HTTP/1.
    try set(CURLOPT_FOLLOWLOCATION, 0)
    try set(CURLOPT_HTTP_CONTENT_DECODING, 0)
    try set(CURLOPT_HTTP09_ALLOWED, 0)
    try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    // Optional: older versions of libcurl lack these.
    try set(CCURLOPT_PROTOCOLS_STR, "http,https", isNeeded: false)
    try set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS), isNeeded: false)
    // An abandoned name lookup must not delay other transfers.
    try set(CCURLOPT_QUICK_EXIT, 1, isNeeded: false)
    try set(CURLOPT_BUFFERSIZE, 128 * 1024)
    try setConnection(request, settings)
  }

  private func setRequest(_ request: OutgoingRequest) throws(CacheError) {
    try set(CURLOPT_URL, request.message.url)
    try set(CURLOPT_PATH_AS_IS, 1)
    try set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
    if request.message.method == "HEAD" { return try set(CURLOPT_NOBODY, 1) }
    if request.hasContent {
      try set(CURLOPT_UPLOAD, 1)
      try set(CURLOPT_INFILESIZE_LARGE, request.contentLength ?? -1)
      // If a kept connection turned out to be closed, the content would be needed again.
      if request.message.stream != nil { try set(CURLOPT_FRESH_CONNECT, 1) }
    }
    try set(CURLOPT_CUSTOMREQUEST, request.message.method)
  }

  private func setConnection(_ request: OutgoingRequest, _ settings: NetworkSettings) throws(CacheError) {
    try setLimits(request, settings.limits)
    let options = settings.options
    try set(CURLOPT_PROXY, settings.proxy(for: request.server))
    try set(CURLOPT_NOPROXY, settings.noProxy)
    if settings.hasAuthorities || settings.authorityFile != nil {
      try set(CURLOPT_CAINFO, settings.authorityFile)
      try set(CURLOPT_PROXY_CAINFO, settings.authorityFile, isNeeded: false)
    }
    if settings.hasAuthorities || settings.authorityFolder != nil {
      try set(CURLOPT_CAPATH, settings.authorityFolder)
      try set(CURLOPT_PROXY_CAPATH, settings.authorityFolder, isNeeded: false)
    }
    if let family = options.addressFamily {
      try set(CURLOPT_IPRESOLVE, Int(family == .ipv4 ? CURL_IPRESOLVE_V4 : CURL_IPRESOLVE_V6))
    }
    if options.isInsecure {
      try set(CURLOPT_SSL_VERIFYPEER, 0)
      try set(CURLOPT_SSL_VERIFYHOST, 0)
    }
    guard request.message.shownIdentity != nil, let certificate = options.clientCertificate else { return }
    try set(CURLOPT_SSLCERT, certificate.file)
    try set(CURLOPT_SSLKEY, certificate.keyFile ?? certificate.file)
    // Without this, OpenSSL would ask for the password of an encrypted key at the terminal.
    try set(CURLOPT_KEYPASSWD, "")
  }

  private func setLimits(_ request: OutgoingRequest, _ limits: TransferLimits) throws(CacheError) {
    let timeout = Self.milliseconds(limits.timeout)
    let total = limits.totalTimeout.map(Self.milliseconds)
    if !limits.isForEachWait { return try set(CURLOPT_TIMEOUT_MS, min(timeout, total ?? timeout)) }
    try set(CURLOPT_CONNECTTIMEOUT_MS, limits.connectTimeout.map(Self.milliseconds) ?? timeout)
    if let total { try set(CURLOPT_TIMEOUT_MS, total) }
    // While content of unknown length is being sent, the caller's source might be the slow part.
    guard !request.hasContent || request.contentLength != nil else { return }
    try set(CURLOPT_LOW_SPEED_LIMIT, 1)
    try set(CURLOPT_LOW_SPEED_TIME, max(1, timeout / 1000))
  }

  func set(_ option: CURLoption, _ value: Int, isNeeded: Bool = true) throws(CacheError) {
    try check(ccurl_set_number(easy, option, value), option, isNeeded)
  }

  func set(_ option: CURLoption, _ value: String?, isNeeded: Bool = true) throws(CacheError) {
    try check(ccurl_set_pointer(easy, option, value), option, isNeeded)
  }

  func set(_ option: CURLoption, _ value: UnsafeMutableRawPointer?) throws(CacheError) {
    try check(ccurl_set_pointer(easy, option, value), option)
  }

  func set(_ option: CURLoption, _ function: Callback) throws(CacheError) {
    try check(ccurl_set_pointer(easy, option, unsafeBitCast(function, to: UnsafeRawPointer.self)), option)
  }

  /// Sets how to return to the beginning of the content.
  func setSeek(
    _ function: @convention(c) (UnsafeMutableRawPointer, curl_off_t, Int32) -> Int32
  ) throws(CacheError) {
    let pointer = unsafeBitCast(function, to: UnsafeRawPointer.self)
    try check(ccurl_set_pointer(easy, CURLOPT_SEEKFUNCTION, pointer), CURLOPT_SEEKFUNCTION)
  }

  private func check(_ code: CURLcode, _ option: CURLoption, _ isNeeded: Bool = true) throws(CacheError) {
    guard code != CURLE_OK, isNeeded else { return }
    let reason = String(cString: ccurl_easy_strerror(code))
    throw .noNetwork("libcurl does not take the option \(option.rawValue): \(reason)")
  }

  private static func milliseconds(_ duration: Duration) -> Int {
    Int(min(max(duration.wholeMilliseconds, 1), Int64(Int32.max)))
  }
}

/// The header lines of a request in libcurl's format.
enum RequestLines {
  /// Fields that libcurl would send, or act on, by itself.
  private static let unwanted = ["Accept", "Expect", "Proxy-Connection"]

  /// Makes a list of the lines, which the caller must free.
  static func make(_ request: HTTP.Request) -> UnsafeMutablePointer<curl_slist>? {
    var list: UnsafeMutablePointer<curl_slist>?
    for field in request.fields.lines {
      // libcurl leaves out a field without a value, unless a semicolon follows its name.
      let line = field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"
      append(FieldText.encode(line), to: &list)
    }
    for name in unwanted where !request.fields.contains(name) { append(Array("\(name):".utf8), to: &list) }
    return list
  }

  private static func append(_ line: [UInt8], to list: inout UnsafeMutablePointer<curl_slist>?) {
    let text = line.map { CChar(bitPattern: $0) } + [0]
    list = libcurl.curl_slist_append(list, text) ?? list
  }
}
