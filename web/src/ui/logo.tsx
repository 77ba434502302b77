import { titleFace } from './title-face.ts'

export function Logo() {
  return (
    <div style={{ display: 'flex', alignItems: 'center', gap: 8 }}>
      <svg viewBox="0 0 32 32" width={22} height={22} aria-hidden="true">
        <path
          fill="var(--mantine-primary-color-filled)"
          d="M3 11 16 3l13 8v3H3zM5 16h4v9H5zm9 0h4v9h-4zm9 0h4v9h-4zM3 27h26v2H3z"
        />
      </svg>
      <p style={{ margin: 0, font: `600 var(--mantine-font-size-xl) / 1 ${titleFace}` }}>Portico</p>
    </div>
  )
}
