import { Group, Pill, TextInput } from '@mantine/core'
import { type KeyboardEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { FieldCondition, MetadataFilter } from '@contract/metadata-filter.ts'
import { describeCondition, readCondition } from './metadata-conditions.ts'

/** Conditions on the metadata as chips: `customer = acme`, `year >= 2024`. */
export function MetadataFilterField(props: {
  value: MetadataFilter | undefined
  onChange: (filter: MetadataFilter | undefined) => void
}) {
  const { value = {}, onChange } = props
  const { t } = useTranslation('files')
  const [text, setText] = useState('')
  const [isWrong, setIsWrong] = useState(false)
  const set = (filter: MetadataFilter) => onChange(Object.keys(filter).length === 0 ? undefined : filter)
  const add = () => {
    const read = readCondition(text)
    setIsWrong(read === undefined && text.trim() !== '')
    if (!read) return
    set({ ...value, [read.field]: read.condition })
    setText('')
  }
  const remove = (field: string) => {
    const { [field]: _, ...rest } = value
    set(rest)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && !event.nativeEvent.isComposing) add()
    else if (event.key === 'Backspace' && text === '') remove(Object.keys(value).at(-1) ?? '')
  }
  return (
    <Group gap={6}>
      <TextInput
        autoFocus={props.value === undefined}
        aria-label={t('filter.metadata')}
        placeholder={t('filter.metadata')}
        error={isWrong ? t('filter.metadataWrong') : undefined}
        value={text}
        w={{ base: '100%', xs: 260 }}
        onChange={({ currentTarget }) => {
          setText(currentTarget.value)
          setIsWrong(false)
        }}
        onKeyDown={onKeyDown}
        onBlur={add}
        maxLength={500}
      />
      {Object.entries(value).map(([field, condition]) => (
        <Pill
          key={field}
          withRemoveButton
          onRemove={() => remove(field)}
          removeButtonProps={{ 'aria-label': t('filter.withoutField', { field }), 'aria-hidden': false, tabIndex: 0 }}
        >
          {describeCondition(field, condition as FieldCondition)}
        </Pill>
      ))}
    </Group>
  )
}
