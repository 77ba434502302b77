const paths = {
  plus: 'M12 5v14M5 12h14',
  list: 'M4 6h16M4 12h16M4 18h10',
  close: 'M6 6l12 12M18 6L6 18',
  send: 'M12 19V5M6 11l6-6 6 6',
  stop: 'M7 7h10v10H7z',
  copy: 'M9 9h10v11H9zM5 15V4h10',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  up: 'M4 11h3.5v9H4zM7.5 11.5L11.5 4c1.6 0 2.4 1.2 2 2.8L12.8 10H18c1.3 0 2.2 1.1 1.9 2.4l-1.3 5.9c-.2 1-1 1.7-2 1.7H7.5',
  down: 'M4 13h3.5V4H4zM7.5 12.5l4 7.5c1.6 0 2.4-1.2 2-2.8l-.7-3.2H18c1.3 0 2.2-1.1 1.9-2.4l-1.3-5.9c-.2-1-1-1.7-2-1.7H7.5',
  trash: 'M5 7h14M10 7V4.5h4V7M7 7l1 13h8l1-13M10.5 11v5.5M13.5 11v5.5',
  open: 'M14 5h5v5M19 5l-8 8M11 6H5v13h13v-6',
} as const

export function Icon({ name }: { name: keyof typeof paths }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  )
}

export function IconButton(props: {
  icon: keyof typeof paths
  label: string
  onClick: () => void
  pressed?: boolean
  expanded?: boolean
}) {
  const { icon, label, onClick, pressed, expanded } = props
  return (
    <button
      type="button"
      class="icon-button"
      title={label}
      aria-label={label}
      aria-pressed={pressed}
      aria-expanded={expanded}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  )
}
