extension SuiteCase {
  /// Which fields of a response are stored.
  static let storedFields: [SuiteCase] =
    [
      SuiteCase(
        "headers-omit-headers-listed-in-Connection", .required, "fields that Connection names are not stored",
        [
          .fresh(["Connection": .loose("a, b"), "a": .loose("1"), "b": .loose("2"), "c": .loose("3")]),
          SuiteExchange(expect: .cached, shows: ["c": "3"], lacks: ["a", "b"]),
        ])
    ] + FieldSample.all.map(storing)

  /// What a 304 changes in the stored response.
  static let updates: [SuiteCase] =
    [
      SuiteCase(
        "304-lm-use-stored-Test-Header", .required, "a field that the 304 leaves out stays",
        [
          SuiteExchange(
            answer: ["Cache-Control": "max-age=2", "Last-Modified": lastChange, "Test-Header": "kept"], pauses: true),
          SuiteExchange(answer: ["Last-Modified": lastChange], expect: .dateValidated, shows: ["Test-Header": "kept"]),
        ])
    ] + FieldSample.all.filter(\.isStored).map(updating)

  private static let lastChange: SuiteFields.Value = "Wed, 01 Jan 2020 00:00:00 GMT"

  private static func storing(_ field: FieldSample) -> SuiteCase {
    let value: SuiteFields.Value = field.isStored ? .text(field.second) : .loose(field.second)
    var answer: SuiteFields = [field.name: value]
    if field.name != "Cache-Control" { answer.append("Cache-Control", "max-age=3600") }
    let text: SuiteExchange.ExpectedText = field.hasContent ? .scripted : .any
    return SuiteCase(
      "headers-store-\(field.name)", .required, field.isStored ? "it is stored" : "it is not stored",
      [
        SuiteExchange(answer: answer, text: text, pauses: true),
        SuiteExchange(
          expect: .cached, text: text, shows: field.isStored ? [field.name: value] : [:],
          lacks: field.isStored ? [] : [field.name]),
      ])
  }

  private static func updating(_ field: FieldSample) -> SuiteCase {
    let expected = field.updating == .forbidden ? field.first : field.second
    let text: SuiteExchange.ExpectedText = field.hasContent ? .scripted : .any
    let shown: SuiteFields = [field.name: .text(expected)]
    return SuiteCase(
      "304-etag-update-response-\(field.name)", field.updating == .asked ? .check : .required,
      field.updating == .forbidden ? "the stored value stays" : "the value of the 304 replaces the stored one",
      [
        SuiteExchange(answer: answer(field, field.first), text: text, pauses: true),
        SuiteExchange(answer: answer(field, field.second), expect: .tagValidated, text: text, shows: shown),
        SuiteExchange(expect: .cached, text: text, shows: shown),
      ])
  }

  private static func answer(_ field: FieldSample, _ value: String) -> SuiteFields {
    var answer: SuiteFields = [field.name: field.updating == .forbidden ? .loose(value) : .text(value)]
    if field.name != "Cache-Control" { answer.append("Cache-Control", "max-age=2") }
    if field.name != "ETag" { answer.append("ETag", .text("\"tag of \(field.name)\"")) }
    return answer
  }
}
