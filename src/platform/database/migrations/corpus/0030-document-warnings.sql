-- Warnings were {page, message}; they are {code, message, pages?} with a code from a closed list (src/contract/documents.ts).
update documents set warnings = (
  select json_agg(
    case when w->>'page' is null
      then json_build_object('code', 'damaged_characters', 'message', w->>'message')
      else json_build_object('code', 'damaged_parts', 'message', w->>'message', 'pages', json_build_array((w->>'page')::int))
    end)
  from json_array_elements(warnings) as w
) where warnings is not null;
