internal import CachePresentation

/// `text` in quotation marks and escaped as in JSON, which is safe on a terminal: messages quote user input like this.
func quoted(_ text: String) -> String { JSONText.text(.string(text)) }
