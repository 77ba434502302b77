/** Longest statement, UTF-16 units. */
const maximumSqlLength = 4_000

/**
 * Returns one SELECT statement without its final semicolon, or the problem. The authorizer of the database enforces that it only
 * reads; this check exists because SQLite compiles the first statement of a text and ignores the rest. Linear.
 */
export function checkStatement(given: string): { sql: string } | { problem: string } {
  if (given.length > maximumSqlLength)
    return { problem: `The statement is longer than ${maximumSqlLength} characters.` }
  if (given.includes('\0')) return { problem: 'The statement contains a NUL character.' }
  const sql = given.trim().replace(/;\s*$/, '')
  if (!/^(?:select|with|values)\b/i.test(sql)) return { problem: 'Only one SELECT statement is allowed.' }
  return hasSeparator(sql) ? { problem: 'Only one statement is allowed.' } : { sql }
}

/** Quoted texts, quoted names and comments; or the character of interest. */
const parts = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|;/g

function hasSeparator(sql: string): boolean {
  for (const [part] of sql.matchAll(parts)) if (part === ';') return true
  return false
}
