import { Box, SegmentedControl, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { useEffect, useState } from 'react'

/** Time without typing until a search is sent. */
const typingMs = 250

/** A search field whose text is part of the address. */
export function SearchField(props: { label: string; value: string | undefined; onChange: (text: string) => void }) {
  const { label, value = '', onChange } = props
  const [text, setText] = useState(value)
  const send = useDebouncedCallback(onChange, typingMs)
  // The address has the text without the space that may still be typed.
  useEffect(() => setText((typed) => (typed.trim() === value ? typed : value)), [value])
  return (
    <TextInput
      type="search"
      placeholder={label}
      aria-label={label}
      leftSection={<IconSearch size={16} aria-hidden />}
      value={text}
      maxLength={200}
      onChange={(event) => {
        setText(event.currentTarget.value)
        send(event.currentTarget.value)
      }}
      w={{ base: '100%', xs: 260 }}
    />
  )
}

/** A choice of one of several parts, such as those of a list with their sizes. It scrolls inside its frame in a narrow window. */
export function PartSwitch<Part extends string>(props: {
  label: string
  parts: { value: Part; label: string }[]
  value: Part
  onChange: (value: Part) => void
}) {
  const { label, parts, value, onChange } = props
  return (
    <Box maw="100%" tabIndex={0} role="region" aria-label={label} style={{ overflowX: 'auto', scrollbarWidth: 'thin' }}>
      <SegmentedControl aria-label={label} data={parts} value={value} onChange={onChange} />
    </Box>
  )
}
