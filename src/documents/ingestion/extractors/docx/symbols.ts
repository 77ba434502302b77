/** Boxes of the Wingdings fonts by the last two digits of their code. */
const wingdingBoxes: Record<string, string> = {
  fe: '[x]',
  fd: '[x]',
  '78': '[x]',
  fb: '[x]',
  a8: '[ ]',
  '6f': '[ ]',
  '71': '[ ]',
  fc: '✓',
}

/** The Symbol font from 0x21 and from 0xa0, by the encoding that Adobe has published for it; pieces of brackets have no meaning alone. */
const symbolsFrom21 = '!∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼'
const symbolsFromA0 = '€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…|—↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑'

/** The text of a `w:sym`; empty where its code means nothing without the font. Symbol fonts use the private area from U+F000. */
export function textOfSymbol(font = '', code = ''): string {
  const value = Number.parseInt(code, 16)
  const place = value & 0xff
  if (/^wingdings$/i.test(font)) {
    const box = wingdingBoxes[code.slice(-2).toLowerCase()]
    if (box !== undefined) return box
  }
  if (/^symbol$/i.test(font)) return (place < 0xa0 ? symbolsFrom21[place - 0x21] : symbolsFromA0[place - 0xa0]) ?? ''
  return value >= 0x20 && (value < 0xd800 || value > 0xf8ff) && value <= 0xfffd ? String.fromCharCode(value) : ''
}
