extension SuiteCase {
  /// How the cache treats an unusually written `Cache-Control`.
  static let cacheControlParsing: [SuiteCase] = [
    reused(
      "freshness-max-age-two-fresh-stale-sameline", .check, "of two max-age the first counts (long, short)",
      ["Cache-Control": .loose("max-age=1800, max-age=1")]),
    reused(
      "freshness-max-age-two-fresh-stale-sepline", .check, "the same on two lines",
      ["Cache-Control": .loose("max-age=1800"), "Cache-Control": .loose("max-age=1")]),
    reused(
      "freshness-max-age-two-stale-fresh-sameline", .check, "of two max-age the longer counts (short, long)",
      ["Cache-Control": .loose("max-age=1, max-age=1800")]),
    reused(
      "freshness-max-age-two-stale-fresh-sepline", .check, "the same on two lines",
      ["Cache-Control": .loose("max-age=1"), "Cache-Control": .loose("max-age=1800")]),
    reused("freshness-max-age-quoted", .check, "a quoted number", ["Cache-Control": .loose("max-age=\"3600\"")]),
    notReused(
      "freshness-max-age-ignore-quoted", .required, "max-age inside a quoted string is none (before the real one)",
      ["Cache-Control": .loose("extension=\"max-age=3600\", max-age=1")]),
    notReused(
      "freshness-max-age-ignore-quoted-rev", .required, "the same after the real one",
      ["Cache-Control": .loose("max-age=1, extension=\"max-age=3600\"")]),
    notReused(
      "freshness-max-age-space-before-equals", .check, "a space before =", ["Cache-Control": .loose("max-age =3600")]),
    notReused(
      "freshness-max-age-space-after-equals", .check, "a space after =", ["Cache-Control": .loose("max-age= 3600")]),
    reused(
      "freshness-max-age-leading-zero", .required, "leading zeros", ["Cache-Control": .loose("max-age=003600")]),
    notReused(
      "freshness-max-age-single-quoted", .required, "single quotes", ["Cache-Control": .loose("max-age='3600'")]),
    reused("freshness-max-age-decimal-zero", .check, "3600.0", ["Cache-Control": .loose("max-age=3600.0")]),
    reused("freshness-max-age-decimal-five", .check, "3600.5", ["Cache-Control": .loose("max-age=3600.5")]),
    reused("freshness-max-age-a100", .check, "a letter before the digits", ["Cache-Control": .loose("max-age=a3600")]),
    reused("freshness-max-age-100a", .check, "a letter after the digits", ["Cache-Control": .loose("max-age=3600a")]),
  ]
}
