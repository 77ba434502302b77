// Runs before the first paint, so that a dark page does not flash. Mantine stores the choice under this key.
;(() => {
  let choice = 'auto'
  try {
    choice = localStorage.getItem('mantine-color-scheme-value') ?? 'auto'
  } catch {
    // Storage is blocked: the system's choice is used.
  }
  const isDark = choice === 'dark' || (choice !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.setAttribute('data-mantine-color-scheme', isDark ? 'dark' : 'light')
})()
