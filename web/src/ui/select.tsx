import { Select as MantineSelect, type SelectProps } from '@mantine/core'
import { useEffect, useState } from 'react'

/**
 * A field with a list of choices. Mantine makes every choice with the field; here they are made when the field gets the focus, because a
 * page has several fields with up to a hundred choices each. They are made before the list opens: keys and screen readers need them then.
 */
export function Select<Value extends string>({ comboboxProps, onFocus, ...others }: SelectProps<Value>) {
  const [state, setState] = useState<'untouched' | 'making' | 'made'>('untouched')
  // A field that opens on focus is rendered again: it names its list by an id that the list gets, and changes once, after it was made.
  useEffect(() => {
    if (state !== 'making') return undefined
    const timer = setTimeout(() => setState('made'))
    return () => clearTimeout(timer)
  }, [state])
  const isTouched = state !== 'untouched'
  return (
    <MantineSelect
      {...others}
      // A portal renders the field twice.
      comboboxProps={{ withinPortal: isTouched, ...comboboxProps, keepMounted: isTouched }}
      onFocus={(event) => {
        if (!isTouched) setState('making')
        onFocus?.(event)
      }}
    />
  )
}
