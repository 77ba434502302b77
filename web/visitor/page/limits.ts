/** As `visitLimits` of src/contract/site-visits.ts, whose schemas would triple the size of the page. */
export const visitLimits = { question: 4_000 } as const
