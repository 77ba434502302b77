/** `open`: nothing is here yet. `search`: nothing matches. `broken`: something failed. */
export type Drawing = 'open' | 'search' | 'broken'

const roof = 'M14 38 60 12l46 26z'
const steps = 'M14 90h92M8 98h104'
const columns = [26, 46, 66, 86]

/** The portico of the logo as a line drawing, for what is empty. For eyes only: the text next to it has the meaning. */
export function Illustration({ drawing }: { drawing: Drawing }) {
  const standing = drawing === 'open' ? [26, 86] : drawing === 'broken' ? [26, 46, 66] : columns
  return (
    <svg viewBox="0 0 120 104" width={120} height={104} aria-hidden="true" data-drawing={drawing}>
      <g
        fill="none"
        stroke="light-dark(var(--mantine-color-portico-4), var(--mantine-color-portico-7))"
        strokeWidth="2"
        strokeLinejoin="round"
        strokeLinecap="round"
      >
        <path d={roof} fill="var(--mantine-color-portico-light)" />
        <path d={steps} />
        {standing.map((x) => (
          <path key={x} d={`M${x} 44v40M${x + 8} 44v40M${x - 3} 44h14M${x - 3} 84h14`} />
        ))}
        {details[drawing]}
      </g>
    </svg>
  )
}

const details: Record<Drawing, React.ReactNode> = {
  // An open door with a path that leads in.
  open: (
    <path d="M48 84V58a12 12 0 0 1 24 0v26M60 64v12m-6-6h12" stroke="var(--mantine-color-anchor)" strokeWidth="2.5" />
  ),
  search: (
    <g stroke="var(--mantine-color-anchor)" strokeWidth="3">
      <circle cx="62" cy="62" r="17" fill="var(--mantine-color-body)" />
      <path d="m74 74 14 14" />
    </g>
  ),
  // The fourth column has fallen.
  broken: <path d="m80 84 26-24m-21 29 26-24m-33 14 9 10m15-34 9 10" stroke="var(--mantine-color-anchor)" />,
}
