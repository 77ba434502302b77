/** The palette of Okabe and Ito, made for people with colour blindness, without black. */
const palette = ['#0072b2', '#e69f00', '#009e73', '#d55e00', '#56b4e9', '#cc79a7', '#b8a900', '#7b6cc4']

export function colourOf(place: number): string {
  return palette[place % palette.length]!
}

/** Everything without a separate colour. */
export const restColour = '#8a949b'
