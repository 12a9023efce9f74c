package expand

import "fmt"

// Asked is the question that a skill answers with instead of calls. Its words are
// the skill's.
type Asked struct {
	Skill    string
	Question string
	// Call is which call of the plan it is about, and Arg the argument of that
	// call which an answer is for; "" when the skill names none that there is.
	Call int
	Arg  string
}

// Error says who asks what.
func (a *Asked) Error() string { return fmt.Sprintf("the skill %s asks: %s", a.Skill, a.Question) }
