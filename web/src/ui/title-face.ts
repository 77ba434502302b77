/** Of the titles of pages and of the logo: old-style faces that macOS, Windows and Linux have, so that none is loaded. */
export const titleFace = '"Iowan Old Style", "Palatino Linotype", Palatino, "URW Palladio L", P052, Georgia, serif'
