/** Text colors with a contrast above 4.5 in both color schemes. */
export const goodColor = 'light-dark(#1a7f4b, #5fd08f)'
export const badColor = 'light-dark(#b3261e, #ff9a91)'
