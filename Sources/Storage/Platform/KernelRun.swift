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
