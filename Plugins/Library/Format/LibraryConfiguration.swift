internal import CCachectlPlugin
internal import StorageSPI

/// A configuration in the form that a library receives.
struct LibraryConfiguration: ~Copyable {
  private var arena = LibraryArena()
  private var values: [cachectl_value] = []
  private let clock: LibraryClock

  /// Copies the values of the options that `declaration` declares, and the clock.
  ///
  /// - Throws: `CacheError` with the code `invalidOption` if a text contains a zero byte, which a C string cannot.
  init(
    _ source: EngineConfiguration, for declaration: EngineDeclaration, _ clock: LibraryClock
  ) throws(CacheError) {
    self.clock = clock
    for option in declaration.options {
      guard let value = source.value(of: option) else { continue }
      if case .text(let text) = value, text.utf8.contains(0) {
        throw CacheError(
          .invalidOption, "option '\(option.name)' of backend \(declaration.name) has a zero byte in it")
      }
      values.append(Self.value(value, of: option, &arena))
    }
  }

  /// Lends the configuration to `body`.
  func withConfiguration(_ body: (UnsafePointer<cachectl_configuration>) -> Int32) -> Int32 {
    values.withUnsafeBufferPointer { values in
      let configuration = cachectl_configuration(
        size: MemoryLayout<cachectl_configuration>.size, values: values.baseAddress, value_count: values.count,
        value_size: MemoryLayout<cachectl_value>.stride, now: LibraryClock.now, clock: clock.context,
        is_cancelled: { _ in LibraryCancellation.isOfThisThread ? 1 : 0 })
      return withUnsafePointer(to: configuration, body)
    }
  }

  private static func value(
    _ value: OptionValue, of option: EngineOption, _ arena: inout LibraryArena
  ) -> cachectl_value {
    let name = arena.terminated(option.name)
    return switch value {
    case .text(let text): cachectl_value(name: name, text: arena.terminated(text), number: 0)
    case .integer(let number): cachectl_value(name: name, text: nil, number: number)
    case .boolean(let isTrue): cachectl_value(name: name, text: nil, number: isTrue ? 1 : 0)
    }
  }
}

extension EngineConfiguration {
  /// The value of `option`; `nil` if it has none.
  fileprivate func value(of option: EngineOption) -> OptionValue? {
    switch option.kind {
    case .text, .path, .choice, .storeName: (try? text(option.name)).map { .text($0) }
    case .integer, .size, .duration: (try? integer(option.name)).map { .integer($0) }
    case .boolean: (try? boolean(option.name)).map { .boolean($0) }
    }
  }
}

/// The clock in the form that a library receives. It lives until `close` has returned.
final class LibraryClock: Sendable {
  private let clock: any WallClock

  init(_ clock: any WallClock) { self.clock = clock }

  /// The argument that the library passes to `now`.
  var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  /// The function that a library calls; without a clock it returns 1970.
  static let now: @convention(c) (UnsafeMutableRawPointer?) -> Int64 = { context in
    guard let context else { return 0 }
    return Unmanaged<LibraryClock>.fromOpaque(context).takeUnretainedValue().clock.now.milliseconds
  }
}
