/* Behind a use of event_fields.h: the meanings that its types had there end. */
#undef U32
#undef U64
#undef MS
#undef S
#undef TIME
#undef FLAG
#undef TEXT
#undef ORDER
#undef FAILURE
#undef STREAM
#undef HOP
#undef REFUSED
#undef RULE
#undef PURPOSE
#undef CANDIDATES
