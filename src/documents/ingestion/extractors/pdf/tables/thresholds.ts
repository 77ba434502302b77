/**
 * All limits of table detection. Each was set by hand and checked with `npm run bench:pdf-tables`; a figure in brackets is the
 * change when only this limit moves, of the share of questions whose cell can be read under its name in the file (0.77). Sizes are heights of
 * the text's character boxes, lengths are page units (1/72 inch), shares are 0..1.
 */
export const alignedLimits = {
  /** Most segments of text of a page; beyond it only drawn tables are looked for, because time grows with pairs of rows. */
  segments: 20_000,
  /** Widest gap between two rows, in sizes. 1.5 and 10 change nothing in the bench; 3 allows generous row spacing. */
  rowGap: 3,
  /** Most rows in sequence with one filled cell. They are lines of a wrapped cell; 0 loses wrapped tables [-0.14], 20 gains nothing. */
  singleRows: 4,
  /** Fewest rows. A grid of two rows needs drawn lines and a header. */
  rows: 3,
  /** Fewest rows of two columns without drawn lines: lists, notes and forms have two columns as well. */
  rowsOfTwoColumns: 4,
  /** Least share of filled cells. 0 accepts the labels of charts as tables; 0.5 loses sparse and wrapped tables [-0.03]. */
  filled: 0.3,
  /** Least share of cells that are flush left, flush right or centred in their column. 0 accepts boxed forms as tables. */
  aligned: 0.75,
  /** Most rows that look like contents with dot leaders, blanks to fill in or programs. 1 accepts more boxes of tax forms as tables. */
  leaders: 0.25,
  /** Two pieces are in one column where they share more than this of the narrower one; long words reach a little into the next column. */
  overlap: 0.2,
  /** Least share of columns that are filled in two rows or more. 0 accepts forms as tables. */
  recurring: 0.7,
}

export const rowLimits = {
  /** The distance to a new row is at least this much larger than between lines of one row. 1 splits wrapped cells [-0.09]. */
  stepRatio: 1.15,
  /** Most lines of text between two drawn lines, on average; more means that the lines separate groups of rows. 1.1 ignores them [-0.005]. */
  linesPerBand: 3.5,
  /** Share of the filled cells that a line of text fills where it is a row, and share of such lines in the whole cell. */
  fullLines: 0.6,
}

export const ruledLimits = {
  /** Drawn lines that nearly meet do meet, and doubled borders are one line. Wide pens and rounding miss by up to 2 units. */
  tolerance: 3,
  /** A border exists where drawn lines cover this share of a cell's side. */
  border: 0.6,
  /** Most cells of a grid; beyond it the page shows squared paper. Time and memory grow with it. */
  cells: 20_000,
  /** Most characters of an average cell. Beyond it the boxes are a page layout: text in boxed columns becomes a table. */
  characters: 400,
  /** Most characters of one cell that holds more than half of the text. */
  longestCell: 1_500,
  /** Least share of cells that fill one place of the grid; boxed forms and drawings are below it. */
  regular: 0.5,
  /** Least share of cells with text. Without this and `regular`, charts and forms become tables. */
  filled: 0.5,
}

export const drawnLimits = {
  /** Pages with more objects or lines are drawings and maps: their lines are not read, which bounds the time of a page. */
  objects: 20_000,
  lines: 20_000,
  /** Boxes up to this thick are lines. */
  thickness: 2.5,
  /** Shorter lines are dashes and parts of letters. */
  length: 3,
  /** Most lines after pieces of one line were joined; crossings are counted by pairs. */
  joined: 1_500,
}

export const documentLimits = {
  /** Most blocks between two parts of one table: a line between its rows, or the foot of a page and the head of the next. */
  blocksBetween: { samePage: 1, nextPage: 4 },
  /** Most characters of such a block; a longer one is text that separates two tables. Without continuation over pages [-0.11]. */
  charactersBetween: 200,
  /** Most bold rows that form a header. */
  headerRows: 3,
  /** Rows that are compared with the first one to recognise a header. */
  comparedRows: 20,
  /** Headings that are remembered to distinguish running heads from new sections; bounds memory. */
  headings: 2_000,
}
