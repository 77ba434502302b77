/** Colours with a contrast that WCAG asks for, made of any colour that an administrator chooses. */

export interface AccentColours {
  /** Fill of buttons, and the text on it. */
  fill: string
  onFill: string
  /** Text and borders in the accent colour on the background of the page. */
  text: string
}

type Rgb = readonly [red: number, green: number, blue: number]

const textContrast = 4.5
export const pageBackgrounds = { light: '#ffffff', dark: '#15181b' } as const
/** The darkest and the lightest background behind text in the accent colour: bubbles and hovered rows. */
const tintedBackgrounds = { light: '#eef1f3', dark: '#262b30' } as const

/** A colour that is not `#rgb` or `#rrggbb` becomes the default. */
export function accentColours(colour: string, scheme: 'light' | 'dark'): AccentColours {
  const rgb = parseColour(colour) ?? parseColour(defaultColour)!
  const background = parseColour(tintedBackgrounds[scheme])!
  // A dark fill is hard to see on a dark page; 3 is what WCAG asks for the border of a control.
  const fill = moveUntil(rgb, parseColour(pageBackgrounds[scheme])!, scheme, 3)
  return { fill: format(fill), onFill: onColour(fill), text: format(moveUntil(rgb, background, scheme, textContrast)) }
}

export const defaultColour = '#2f6f73'

/** White or black, whichever is easier to read on the colour; one of them has a contrast of at least 4.5. */
function onColour(colour: Rgb): string {
  return contrast(colour, [255, 255, 255]) >= textContrast ? '#ffffff' : '#000000'
}

/** Mixes the colour with black, or in the dark with white, in steps of 4 % until it has the contrast. */
function moveUntil(colour: Rgb, background: Rgb, scheme: 'light' | 'dark', minimum: number): Rgb {
  const target = scheme === 'light' ? 0 : 255
  for (let step = 0; step <= 25; step++) {
    const mixed = colour.map((value) => Math.round(value + ((target - value) * step) / 25)) as unknown as Rgb
    if (contrast(mixed, background) >= minimum) return mixed
  }
  return [target, target, target]
}

export function parseColour(text: string): Rgb | undefined {
  const digits = /^#([\da-f]{3}|[\da-f]{6})$/i.exec(text.trim())?.[1]
  if (digits === undefined) return undefined
  const whole = digits.length === 3 ? digits.replace(/./g, '$&$&') : digits
  return [0, 2, 4].map((at) => Number.parseInt(whole.slice(at, at + 2), 16)) as unknown as Rgb
}

function format(colour: Rgb): string {
  return `#${colour.map((value) => value.toString(16).padStart(2, '0')).join('')}`
}

export function contrast(one: Rgb, other: Rgb): number {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

/** Relative luminance of WCAG 2.2. */
function luminance(colour: Rgb): number {
  const [red, green, blue] = colour.map((value) => {
    const share = value / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
