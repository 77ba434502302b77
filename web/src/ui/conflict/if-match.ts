/** The header with which a change is refused if someone else was faster. Apart from the form, which few pages need. */
export const ifMatch = ({ version }: { version: string }) => ({ headers: { 'if-match': `"${version}"` } })
